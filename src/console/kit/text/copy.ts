/** Puts text on the clipboard; by the older way where the page has no right to the newer (plain http on another machine). */
export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "unseen";
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
