import type { ReactNode } from "react";

export interface Tab<Id extends string> {
  id: Id;
  label: ReactNode;
}

/** A row of tabs; arrow keys move along it. */
export function Tabs<Id extends string>({
  tabs,
  value,
  onChange,
  label,
  end,
}: {
  tabs: Tab<Id>[];
  value: Id;
  onChange: (id: Id) => void;
  label: string;
  end?: ReactNode;
}) {
  const move = (step: number) => {
    const at = tabs.findIndex((tab) => tab.id === value);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (next) onChange(next.id);
  };
  return (
    <div className="tabs">
      <div
        className="tablist"
        role="tablist"
        aria-label={label}
        onKeyDown={(event) => {
          if (event.key === "ArrowRight") move(1);
          if (event.key === "ArrowLeft") move(-1);
        }}
      >
        {tabs.map((tab) => (
          <button
            key={tab.id}
            role="tab"
            aria-selected={tab.id === value}
            tabIndex={tab.id === value ? 0 : -1}
            data-tab={tab.id}
            onClick={() => onChange(tab.id)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      {end && <span className="end">{end}</span>}
    </div>
  );
}
