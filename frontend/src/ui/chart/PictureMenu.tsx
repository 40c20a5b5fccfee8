import { PICTURES, savePicture, type PictureFormat } from "../../lib/save";
import { Icon } from "../Icon";
import { Menu } from "../Menu";
import { toast } from "../toasts";

const HINTS: Record<PictureFormat, string> = { svg: "vector", png: "bitmap, for slides", pdf: "one page, for papers" };

/** Takes a chart along as a picture. name: of the file, without the ending. */
export function PictureMenu({
  title,
  name,
  picture,
}: {
  title: string;
  name: string;
  picture: () => { svg: string; width: number; height: number };
}) {
  const save = async (format: PictureFormat) => {
    try {
      await savePicture(picture(), format, name, "chart");
    } catch (error) {
      toast(`The picture could not be created. ${error instanceof Error ? error.message : String(error)}`, { tone: "err" });
    }
  };
  return (
    <Menu title={`${title}: save as a picture`} className="btn ghost icon mini" label={<Icon name="export" small />}>
      {(close) =>
        PICTURES.map((format) => (
          <button
            key={format}
            onClick={() => {
              close();
              void save(format);
            }}
          >
            <Icon name="figures" small />
            <span>{format.toUpperCase()}</span>
            <small>{HINTS[format]}</small>
          </button>
        ))
      }
    </Menu>
  );
}
