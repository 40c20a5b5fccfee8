import { Link } from "react-router";

export function Crumb() {
  return (
    <>
      <Link to="/studies">Studies</Link>
      <span>/</span>
      <b>New study</b>
    </>
  );
}
