import { fileURLToPath } from "node:url";
import vue from "@vitejs/plugin-vue";
import { defineConfig } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The gateway that `npm run dev:console` talks to; whatever the console itself does not have is asked of it. */
const gateway = process.env["PARLEY_URL"] ?? `http://127.0.0.1:${process.env["PORT"] ?? "3000"}`;

/** Builds the console into `.output/console`, which the gateway serves at `/console`. */
export default defineConfig(({ command }) => ({
  root: here("./"),
  base: "/console/",
  plugins: [vue()],
  define: {
    // Whatever runs the build: what is for development is no part of it.
    ...(command === "build" && { "process.env.NODE_ENV": '"production"' }),
    __VUE_OPTIONS_API__: "false",
    __VUE_PROD_DEVTOOLS__: "false",
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
    __VUE_I18N_FULL_INSTALL__: "false",
    __VUE_I18N_LEGACY_API__: "false",
    __INTLIFY_PROD_DEVTOOLS__: "false",
  },
  build: {
    outDir: here("../../.output/console"),
    emptyOutDir: true,
    // What stands in the page itself would need an exception in its Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    // Says itself how long it took; sizes are for the test of the first screen.
    reportCompressedSize: false,
  },
  server: {
    port: 5173,
    proxy: { "^/(?!console)": gateway },
  },
}));
