import type { FileHost } from "../people/link.ts";
import type { MediaStore } from "./store.ts";

/** The media host as simulated phones use it: the same files, without TLS and without faults. */
export function phoneFiles(store: MediaStore): FileHost {
  return {
    store(type, bytes) {
      const { directPath } = store.put(type, bytes);
      store.record({
        direction: "upload",
        type,
        status: 200,
        bytes: bytes.length,
        directPath,
        byPhone: true,
      });
      return { url: `${store.origin}${directPath}&mms3=true`, directPath };
    },
    load(directPath) {
      const file = store.find(directPath);
      const status = file ? (file.gone ?? 200) : 404;
      const { type = "", bytes = Buffer.alloc(0) } = file ?? {};
      store.record({ direction: "download", type, status, bytes: bytes.length, directPath, byPhone: true });
      if (status !== 200) throw new Error(`the media host answers ${status}`);
      return bytes;
    },
    recall(directPath) {
      const file = store.find(directPath);
      if (!file) return "not_found";
      return file.recall === undefined || file.recall === "again" ? file.bytes : file.recall;
    },
  };
}
