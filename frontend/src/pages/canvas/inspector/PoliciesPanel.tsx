import type { Family, Json, Tagged } from "../../../api/types";
import { latency, plural } from "../../../lib/format";
import { expandHosts } from "../../../model/document/hosts";
import { regionLinksOf } from "../../../model/document/regions";
import { isAdvanced, labelOf, propertyNames, schemaAt, taggedDefault } from "../../../model/document/schema";
import { KindForm } from "../../../ui/form/KindForm";
import { Remarks } from "../../../ui/form/Remarks";
import { SchemaForm } from "../../../ui/form/SchemaForm";
import { SuggestButton } from "../advice/SuggestButton";
import { edit, editAt, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import "./editors";
import { Section } from "./Section";

type Fields = { [field: string]: Json };

/** Family of the registry for a policy's name: flow_control is chosen among flow_controls, ingress among ingresses. */
const familyOf = (name: string) => `${name}${name.endsWith("s") ? "es" : "s"}` as Family;

export function PoliciesPanel() {
  const document = useEditor((state) => state.document);
  const problems = useEditor((state) => state.problems);
  const { registry, schema: root } = useRegistry();
  const policies = schemaAt(root, ["policies"]);
  const names = [...new Set([...propertyNames(policies), ...Object.keys(document.policies ?? {})])];
  const cluster = schemaAt(root, ["cluster"]);
  const title = (family: Family, kind: string | undefined) => registry[family]?.find((one) => one.kind === kind)?.title ?? kind ?? "";
  const { hosts: _hosts, ...network } = document.cluster;
  const hosts = expandHosts(document).map(({ name, group }) => ({ name, type: group }));
  const explicit = Object.keys(document.placement.hosts ?? {}).length;
  return (
    <>
      <Section title="Placement" summary={title("placements", document.placement.kind)}>
        <KindForm
          label="Placement"
          bare
          kinds={registry.placements ?? []}
          value={document.placement}
          pointer="/placement"
          problems={problems}
          omit={["hosts"]}
          onChange={(write, group) =>
            edit((before) => {
              const value = write(before.placement);
              // Switching to explicit starts from where everything stands now, so that nothing moves.
              const hosts = () => before.placement.hosts ?? uniqueHosts(useEditor.getState().placement);
              return { ...before, placement: value.kind === "explicit" ? { ...value, hosts: hosts() } : { kind: value.kind, ...omitHosts(value) } };
            }, group)
          }
        />
        {document.placement.kind === "explicit" && (
          <p className="mut small">{plural(explicit, "operator")} placed. Drop an operator on a host to move it, or edit its host names.</p>
        )}
        <SuggestButton />
        <Remarks
          problems={problems.filter(
            (problem) =>
              problem.pointer === "/placement/hosts" ||
              (problem.pointer.startsWith("/placement/hosts/") &&
                !document.query.operators.some((operator) => problem.pointer.startsWith(`/placement/hosts/${operator.id}`))),
          )}
        />
      </Section>
      {names.map((name) => {
        const kinds = registry[familyOf(name)] ?? [];
        const field = policies && schemaAt(root, ["policies", name]);
        const value = (document.policies?.[name] as Tagged | undefined) ?? taggedDefault(policies, name);
        return (
          <Section
            key={name}
            title={labelOf(name, field)}
            summary={title(familyOf(name), value?.kind)}
            open={!isAdvanced(field) || value?.kind !== taggedDefault(policies, name)?.kind}
          >
            <KindForm
              label={labelOf(name, field)}
              bare
              kinds={kinds}
              value={value}
              pointer={`/policies/${name}`}
              problems={problems}
              onChange={editAt(`/policies/${name}`)}
            />
          </Section>
        );
      })}
      <Section title="Prices" summary={title("prices", document.prices ?? "reference")} open={false}>
        {root && (
          <SchemaForm
            schema={root}
            only={["prices"]}
            value={document.prices === undefined ? {} : { prices: document.prices }}
            pointer=""
            problems={problems}
            onChange={editAt("")}
          />
        )}
      </Section>
      <Section
        title="Network"
        summary={`local ${latency((document.cluster.local_latency_ns ?? 1000) / 1e6).join(" ")}, ${plural(regionLinksOf(document).length, "region link")}, ${plural(document.cluster.links?.length ?? 0, "link")}`}
        open={false}
      >
        {cluster && (
          <SchemaForm
            schema={cluster}
            value={network as Fields}
            pointer="/cluster"
            problems={problems}
            records={{ hosts }}
            omit={["hosts"]}
            onChange={editAt("/cluster")}
          />
        )}
      </Section>
    </>
  );
}

const uniqueHosts = (placement: Record<string, string[]>) =>
  Object.fromEntries(Object.entries(placement).map(([id, names]) => [id, [...new Set(names)]]));

const omitHosts = (value: Tagged) => Object.fromEntries(Object.entries(value).filter(([name]) => name !== "hosts"));
