import { render } from "preact";
import { App } from "./app.tsx";
import "./data/theme.ts";

render(<App />, document.body);
