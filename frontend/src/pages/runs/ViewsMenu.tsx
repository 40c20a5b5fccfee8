import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post, put } from "../../api/client";
import { viewsQuery } from "../../api/queries";
import type { View, ViewQuery } from "../../api/types";
import { sameView } from "../../model/run/views";
import { WriteButton } from "../../session/may";
import { useDeletion } from "../../session/useDeletion";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { toast } from "../../ui/toasts";

const NAME_LENGTH_MAX = 100;

/** Lists under names that the whole lab sees: opened, kept, changed, deleted. */
export function ViewsMenu({ query, onOpen }: { query: ViewQuery; onOpen: (query: ViewQuery) => void }) {
  const { data: views = [] } = useQuery(viewsQuery);
  const shown = views.find((view) => sameView(view.query, query));
  return (
    <Menu
      title="Views: saved lists, shared with the whole lab"
      className="btn"
      label={
        <>
          <Icon name="flag" />
          <span className="ell view-name">{shown?.name ?? "Views"}</span>
          <Icon name="down" small />
        </>
      }
    >
      {(close) => (
        <Views
          views={views}
          shown={shown}
          query={query}
          onOpen={(view) => {
            close();
            onOpen(view.query);
          }}
        />
      )}
    </Menu>
  );
}

function Views({
  views,
  shown,
  query,
  onOpen,
}: {
  views: View[];
  shown: View | undefined;
  query: ViewQuery;
  onOpen: (view: View) => void;
}) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const remove = useDeletion("views");
  const store = useMutation({
    mutationFn: ({ view, name }: { view?: View | undefined; name: string }) =>
      view ? put<View>(`/api/views/${view.id}`, { query }) : post<View>("/api/views", { name, query }),
    onSuccess: (view, { view: before }) => {
      setName("");
      toast(before ? `“${view.name}” updated to this list.` : `List saved as “${view.name}”.`);
    },
    onError: (error) => toast(error.message, { tone: "err" }),
    onSettled: () => client.invalidateQueries({ queryKey: ["views"] }),
  });
  const fresh = name.trim();
  const taken = views.find((view) => view.name === fresh);
  return (
    <div className="views">
      {views.map((view) => (
        <div key={view.id}>
          <button aria-pressed={view === shown} onClick={() => onOpen(view)} title={view.author ? `Saved by ${view.author}` : ""}>
            {view === shown ? <Icon name="check" /> : <span />}
            <span className="ell">{view.name}</span>
          </button>
          <WriteButton
            className="btn ghost icon mini"
            title="Delete this view; runs are not affected"
            aria-label={`Delete the view ${view.name}`}
            onClick={() => void remove(view.id, `View “${view.name}” deleted.`)}
          >
            <Icon name="trash" small />
          </WriteButton>
        </div>
      ))}
      {!views.length && <p className="mut small">None yet. Search, sort and choose columns, then save the list under a name.</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (fresh) store.mutate({ view: taken, name: fresh });
        }}
      >
        <input
          aria-label="Name of this list"
          placeholder="Save this list as …"
          value={name}
          maxLength={NAME_LENGTH_MAX}
          onChange={(event) => setName(event.target.value)}
        />
        <WriteButton
          className="btn primary"
          disabled={!fresh || store.isPending}
          title={!fresh ? "Enter a name first" : taken ? "Update this view to the current list" : "Save filters, order and columns"}
        >
          {taken ? "Replace" : "Save"}
        </WriteButton>
      </form>
    </div>
  );
}
