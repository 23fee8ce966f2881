import { useId } from "preact/hooks";
import { TextField } from "../../../ui/form/field.tsx";

interface Props {
  value: string;
  problem: string | undefined;
  onValue: (value: string) => void;
}

const zones = ["UTC", ...Intl.supportedValuesOf("timeZone")];

/** A time zone by its IANA name, offered from the browser's list. */
export function ZoneField({ value, problem, onValue }: Props) {
  const list = useId();
  return (
    <>
      <TextField
        label="Time zone"
        required
        hint="An IANA name such as Europe/Zurich."
        list={list}
        spellcheck={false}
        {...{ value, problem, onValue }}
      />
      <datalist id={list}>
        {zones.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </>
  );
}
