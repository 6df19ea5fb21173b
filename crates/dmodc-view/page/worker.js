// The worker that holds the engine. It imports nothing, because it runs from a blob. The first message holds the bytes of
// the WebAssembly module; each other message is a call `{id, name, body}` and gets one answer `{id, ok, answer}`.
// A request is UTF-8 JSON in memory of the module. The answer is a length (u32, little-endian) and UTF-8 JSON.

let instance = null;
let failure = null;

const imports = {
  env: {
    now: () => performance.timeOrigin + performance.now(),
    progress: (done, total) => self.postMessage({ progress: { done: Number(done), total: Number(total) } }),
  },
};

function call(name, body) {
  const { memory, allocate, release, call: enter } = instance.exports;
  const request = new TextEncoder().encode(JSON.stringify({ name, body }));
  const place = allocate(request.length);
  new Uint8Array(memory.buffer, place, request.length).set(request);
  let answer;
  try {
    answer = enter(place, request.length) >>> 0;
    release(place, request.length);
  } catch {
    // The module failed in the middle of a call. From now on it answers every call with the reason.
    answer = enter(place, request.length) >>> 0;
  }
  const length = new DataView(memory.buffer).getUint32(answer, true);
  const text = new TextDecoder().decode(new Uint8Array(memory.buffer, answer + 4, length));
  release(answer, 4 + length);
  const parsed = JSON.parse(text);
  if (parsed.error !== undefined) throw new Error(parsed.error);
  return parsed.ok;
}

let queue = Promise.resolve();

self.onmessage = (event) => {
  queue = queue.then(() => handle(event.data));
};

async function handle(message) {
  if (message.wasm) {
    try {
      instance = (await WebAssembly.instantiate(message.wasm, imports)).instance;
    } catch (error) {
      failure = `this browser cannot run the engine (${error.message})`;
    }
    return;
  }
  const { id, name, body } = message;
  try {
    if (failure) throw new Error(failure);
    self.postMessage({ id, ok: true, answer: call(name, body) });
  } catch (error) {
    self.postMessage({ id, ok: false, answer: error.message });
  }
}
