import { spawn } from "node:child_process";

/** Is there a screen that a browser could open on? A machine that one is logged in to from elsewhere has none. */
export function hasDisplay(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): boolean {
  if (platform === "darwin" || platform === "win32") return !env["SSH_CONNECTION"];
  return Boolean(env["DISPLAY"] || env["WAYLAND_DISPLAY"]);
}

/** Opens an address in the person's browser. What fails is passed over: the address stands in the terminal as well. */
export function openInBrowser(url: string, platform: NodeJS.Platform = process.platform): void {
  const [command, ...args] = COMMANDS[platform] ?? ["xdg-open"];
  const child = spawn(command!, [...args, url], { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
}

const COMMANDS: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};
