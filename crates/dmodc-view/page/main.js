// The start of the page: it chooses the back end, builds the parts of the page and connects them.
import { App } from "./app.js";
import { HttpBackend } from "./backend-http.js";
import { WasmBackend, embedded } from "./backend-wasm.js";

const data = embedded();
const backend = data ? new WasmBackend(data) : new HttpBackend();
new App(backend).start();
