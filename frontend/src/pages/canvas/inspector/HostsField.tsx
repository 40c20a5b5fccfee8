import type { Operator } from "../../../api/document";
import type { Json, JsonSchema } from "../../../api/types";
import { placeOn } from "../../../model/document/edits";
import { SchemaForm } from "../../../ui/form/SchemaForm";
import { edit, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import "./editors";

/** Where the instances stand: what an explicit placement says about this operator. An edit makes the placement explicit. */
export function HostsField({ operator }: { operator: Operator }) {
  const document = useEditor((state) => state.document);
  const problems = useEditor((state) => state.problems);
  const placement = useEditor((state) => state.placement);
  const { registry } = useRegistry();
  const explicit = document.placement.kind === "explicit";
  const given = (explicit ? document.placement.hosts?.[operator.id] : undefined) ?? [...new Set(placement[operator.id] ?? [])];
  const offered = registry.placements?.find(({ kind }) => kind === "explicit")?.schema;
  const all = (offered?.properties as { [name: string]: JsonSchema } | undefined)?.hosts;
  const one = all?.additionalProperties as JsonSchema | undefined;
  if (!one) return null;
  return (
    <>
      <SchemaForm
        key={operator.id}
        schema={{ type: "object", properties: { [operator.id]: one } }}
        value={{ [operator.id]: given as Json }}
        pointer="/placement/hosts"
        problems={problems}
        idPrefix="operator-hosts"
        onChange={(write) => edit((before) => placeOn(before, operator.id, (write({})[operator.id] ?? []) as string[], placement))}
      />
      {!explicit && (
        <p className="mut small">
          Placed by strategy “{document.placement.kind}”. An edit here, or dropping the operator on a host, makes the placement explicit.
        </p>
      )}
    </>
  );
}
