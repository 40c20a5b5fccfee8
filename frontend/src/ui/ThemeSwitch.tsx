import { Icon } from "./Icon";
import { chooseTheme, THEMES, useTheme } from "./theme";

export function ThemeSwitch() {
  const theme = useTheme((state) => state.theme);
  return (
    <div className="seg" role="radiogroup" aria-label="Theme">
      {THEMES.map(([value, label, icon]) => (
        <label key={value} title={label}>
          <input type="radio" name="theme" checked={theme === value} onChange={() => chooseTheme(value)} aria-label={label} />
          <Icon name={icon} />
        </label>
      ))}
    </div>
  );
}
