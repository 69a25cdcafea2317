import { expect, it, onTestFinished } from "vitest";
import { createNumbers } from "../../../src/numbers/numbers.ts";
import { openProxy } from "../../../src/store/sealed/proxies.ts";
import { NO_INTAKE } from "../../../src/store/write/intake.ts";
import { Phone } from "../../properties/phone.ts";
import { rawRows } from "../store/rows.ts";
import { configFor, silentLog, temporaryFolder, temporaryStore } from "../store/temporary.ts";

const NUMBER = "31600000001";

async function open() {
  const store = await temporaryStore();
  const phone = new Phone();
  const start = async () => {
    const numbers = createNumbers({
      store,
      log: silentLog(configFor(temporaryFolder())),
      whatsapp: phone.whatsapp(),
      erase: async () => undefined,
      deviceLimit: async () => null,
      onMessages: () => NO_INTAKE,
      onAcknowledged: async () => undefined,
      tell: () => undefined,
    });
    await numbers.load();
    onTestFinished(() => numbers.stop());
    return numbers;
  };
  return { store, phone, start, numbers: await start() };
}

it("a number connects anew when its proxy is another one, and not when it is the same", async () => {
  const { phone, numbers, store, start } = await open();
  const { id } = await numbers.register("account", NUMBER);
  const linking = numbers.link(id, { force: false, method: "qr" });
  await expect.poll(() => phone.current?.kind).toBe("registration");
  const first = phone.current;
  await numbers.change(id, { proxy: "http://me:secret@proxy.invalid:3128" });
  await expect.poll(() => phone.live.length === 1 && phone.current !== first).toBe(true);
  phone.showQr();
  await linking;
  phone.scan(NUMBER);
  await expect.poll(() => phone.current?.kind).toBe("login");
  phone.logIn();
  const online = phone.current;

  await numbers.change(id, { proxy: "http://me:secret@proxy.invalid:3128" });
  await numbers.change(id, { calls: "reject" });
  expect(phone.current).toBe(online);
  await numbers.change(id, { proxy: "http://me:other@proxy.invalid:3128" });
  await expect.poll(() => phone.current?.kind === "login" && phone.current !== online).toBe(true);
  phone.logIn();
  const second = phone.current;
  await numbers.change(id, { proxy: null });
  await expect.poll(() => phone.current?.kind === "login" && phone.current !== second).toBe(true);
  expect(phone.problems).toEqual([]);

  await numbers.change(id, { proxy: "socks5://me:other@proxy.invalid" });
  const [row] = await rawRows(store, "select proxy from devices where id = ?", [id]);
  const sealed = Buffer.from(row!["proxy"] as ArrayBuffer);
  expect(sealed.includes("other")).toBe(false);
  expect(openProxy(store.box, id, sealed)).toBe("socks5://me:other@proxy.invalid");
  await numbers.stop();
  expect((await start()).get(id)?.proxy?.shown).toBe("socks5://me@proxy.invalid:1080");
});
