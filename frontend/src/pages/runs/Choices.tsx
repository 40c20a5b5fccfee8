import { choicesOf, withoutWord } from "../../model/run/condition";
import { Icon } from "../../ui/Icon";

/** What the search chooses of the fields that are drawn; each can be taken away. */
export function Choices({ search, fields, onSearch }: { search: string; fields: readonly string[]; onSearch: (search: string) => void }) {
  const words = [...new Set([...fields, "number"])].flatMap((name) => choicesOf(search, name));
  if (!words.length) return null;
  return (
    <span className="choices" role="group" aria-label="Chosen ranges">
      {words.map((word) => (
        <button key={word} className="btn" onClick={() => onSearch(withoutWord(search, word))} title={`Remove ${word} from the search`}>
          <span className="ell">{word}</span>
          <Icon name="cross" small />
        </button>
      ))}
    </span>
  );
}
