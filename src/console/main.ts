import { createApp } from "vue";
import App from "./App.vue";
import { i18n, preferredLanguage, useLanguage } from "./app/i18n.ts";
import { router } from "./app/router.ts";
import { followTheme } from "./app/theme.ts";
// oxlint-disable import/no-unassigned-import -- styles are loaded by being imported
import "./kit/style/tokens.css";
import "./kit/style/base.css";

followTheme();
await useLanguage(preferredLanguage());
createApp(App).use(i18n).use(router).mount("#app");
