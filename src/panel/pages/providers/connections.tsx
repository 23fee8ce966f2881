import { useSignal } from "@preact/signals";
import type { ProviderConnection, ProviderConnectionTest } from "../../../client/index.ts";
import { useAction } from "../../data/form/action.ts";
import { useList } from "../../data/list/list.ts";
import { Button } from "../../ui/button.tsx";
import { DeleteButton } from "../../ui/dialog/buttons.tsx";
import type { DialogProps } from "../../ui/form/form.tsx";
import { durationText } from "../../ui/text/numbers.ts";
import { tellFailure } from "../../ui/toast.tsx";
import { labelOfProvider } from "../agents/providers.ts";
import { ConnectionDialog } from "./connection-dialog.tsx";
import type { ConnectionSource } from "./source.ts";
import { roleTexts, UsableBadge } from "./words.tsx";

/**
 * The properties of a list with an owner's connections. It is read again when one of `inputs` changes; `onChange` is
 * called after a connection was changed.
 */
export function useConnections(
  source: ConnectionSource,
  inputs: readonly unknown[],
  onChange: () => Promise<unknown> = async () => {},
) {
  const list = useList("connections", source.list, inputs);
  const tests = useSignal<ReadonlyMap<string, ProviderConnectionTest>>(new Map());
  const reload = async () => {
    // A changed connection may answer otherwise.
    tests.value = new Map();
    await Promise.all([list.reload(), onChange()]);
  };
  return {
    of: { ...list, reload },
    add: { label: "New connection", to: source.to },
    dialog: (connection: ProviderConnection | null, props: DialogProps) => (
      <ConnectionDialog source={source} connection={connection} {...props} />
    ),
    label: "Connections",
    keyOf: ({ id }: ProviderConnection) => id,
    about: ({ id, name, provider, baseUrl }: ProviderConnection) => (
      <>
        {labelOfProvider(provider) !== name && labelOfProvider(provider)} {baseUrl !== null && <code>{baseUrl}</code>}
        <TestResult of={tests.value.get(id)} />
      </>
    ),
    columns: [
      { title: "Connection", cell: ({ name }: ProviderConnection) => name },
      { title: "State", cell: (connection: ProviderConnection) => <State of={connection} /> },
      {
        title: "Key",
        cell: ({ apiKeyHint }: ProviderConnection) =>
          apiKeyHint === null ? <span class="soft">none</span> : <code>{apiKeyHint}</code>,
      },
      {
        title: "Roles",
        cell: ({ roles }: ProviderConnection) =>
          roles.map((role) => roleTexts[role].title).join(", ") || <span class="soft">none</span>,
      },
    ] as const,
    actionsTo: source.to,
    actions: (connection: ProviderConnection, edit: (item: ProviderConnection) => void) => (
      <>
        <TestButton
          test={() => source.test(connection.id)}
          onTested={(result) => {
            tests.value = new Map([...tests.value, [connection.id, result]]);
          }}
        />
        <Button small onClick={() => edit(connection)}>
          Edit
        </Button>
        <DeleteButton
          small
          name={connection.name}
          kind="connection"
          onConfirm={() => source.delete(connection.id)}
          onDone={reload}
        >
          {consequenceOf(connection)}
        </DeleteButton>
      </>
    ),
  };
}

const State = ({ of: connection }: { of: ProviderConnection }) => (
  <span class="badges">
    <UsableBadge {...connection} />
    {connection.isDefault && <span class="badge">default</span>}
  </span>
);

/** What the deletion of a connection means for agents. The server refuses it while one binds the connection. */
function consequenceOf({ roles, isDefault }: ProviderConnection): string {
  if (roles.length > 0) {
    const bound = roles.map((role) => roleTexts[role].title).join(", ");
    return `It is bound to ${bound}, so it can't be deleted: bind another one first, in the tab Models of an agent.`;
  }
  if (isDefault)
    return "Agents that bind no connection then use the keys of the environment. Its stored key is deleted.";
  return "No agent binds it. Its stored key is deleted.";
}

interface TestProps {
  test: () => Promise<ProviderConnectionTest>;
  onTested: (result: ProviderConnectionTest) => void;
}

/** Asks the provider for its list of models. */
function TestButton({ test, onTested }: TestProps) {
  const act = useAction(async () => {
    try {
      onTested(await test());
    } catch (error) {
      tellFailure(error);
    }
  });
  return (
    <Button small busy={act.busy} onClick={() => void act.run()}>
      {act.busy ? "Testing…" : "Test"}
    </Button>
  );
}

/** The outcome of the last test since the page was opened. */
const TestResult = ({ of: result }: { of: ProviderConnectionTest | undefined }) => (
  <div role="status">
    {result?.ok && <p>Answered after {durationText(result.latencyMs)}.</p>}
    {result?.ok === false && <p class="wrong">{result.error}</p>}
  </div>
);
