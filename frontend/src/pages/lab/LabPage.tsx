import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "react-router";
import { meQuery } from "../../api/queries";
import { NotFound } from "../../ui/NotFound";
import { Tabs } from "../../ui/Tabs";
import { TopBar } from "../../ui/TopBar";
import { AuditTab } from "./AuditTab";
import { PeopleTab } from "./PeopleTab";
import { StorageTab } from "./StorageTab";
import { TokensTab } from "./TokensTab";
import "./lab.css";

const TABS = [
  { id: "people", label: "People", Part: PeopleTab },
  { id: "tokens", label: "Tokens", Part: TokensTab },
  { id: "storage", label: "Storage", Part: StorageTab },
  { id: "audit", label: "Audit", Part: AuditTab },
] as const;
type TabId = (typeof TABS)[number]["id"];

/** Who belongs to the lab, which programs act for them, and what the lab keeps. */
export function LabPage() {
  const { tab: asked = TABS[0].id } = useParams();
  const navigate = useNavigate();
  const { data: me } = useQuery(meQuery);
  const tab = TABS.find(({ id }) => id === asked);
  if (!tab) return <NotFound />;
  return (
    <div className="page on-lab">
      <TopBar title={`${tab.label}, Lab`} crumb={<h1>{me?.lab ?? "Lab"}</h1>} />
      <div className="list-page">
        <Tabs<TabId>
          label="Parts of the lab"
          tabs={[...TABS]}
          value={tab.id}
          onChange={(id) => void navigate(`/lab/${id}`)}
          end={me && `You are ${me.name}, ${me.role}`}
        />
        <tab.Part />
      </div>
    </div>
  );
}
