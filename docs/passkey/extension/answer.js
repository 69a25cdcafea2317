// Runs in the page, where the passkey belongs. It reads what you paste and shows what the passkey answers; it keeps
// neither and sends neither.
(async () => {
  const bytes = (text) =>
    Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  const base64url = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer)))
      .replaceAll("+", "-")
      .replaceAll("/", "_")
      .replaceAll("=", "");
  if (location.origin !== "https://web.whatsapp.com") return alert("Open https://web.whatsapp.com first.");
  const pasted = prompt("Paste the gateway's question (the object `passkey` of POST /generate-qr):");
  if (!pasted) return;
  try {
    const given = JSON.parse(pasted);
    const request = given.passkey ?? given;
    const allowCredentials = request.allowCredentials.map((one) => ({ ...one, id: bytes(one.id) }));
    const publicKey = { ...request, challenge: bytes(request.challenge), allowCredentials };
    const { rawId, type, response } = await navigator.credentials.get({ publicKey });
    const { clientDataJSON, authenticatorData, signature, userHandle } = response;
    const answer = { clientDataJSON, authenticatorData, signature };
    if (userHandle) answer.userHandle = userHandle;
    for (const name of Object.keys(answer)) answer[name] = base64url(answer[name]);
    const id = base64url(rawId);
    prompt("Copy this answer:", JSON.stringify({ id, rawId: id, type, response: answer }));
  } catch (error) {
    alert(`It did not work: ${error.message}`);
  }
})();
