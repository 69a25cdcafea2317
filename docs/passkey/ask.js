// Paste this into the console (F12) of https://web.whatsapp.com, after reading it. It lets your passkey
// sign one challenge and prints the answer here. It sends nothing anywhere and stores nothing.
(async (request) => {
  const bytes = (text) =>
    Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  const base64url = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer)))
      .replaceAll("+", "-")
      .replaceAll("/", "_")
      .replaceAll("=", "");
  const allowCredentials = request.allowCredentials.map((one) => ({ ...one, id: bytes(one.id) }));
  const publicKey = { ...request, challenge: bytes(request.challenge), allowCredentials };
  const { rawId, type, response } = await navigator.credentials.get({ publicKey });
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  const answer = { clientDataJSON, authenticatorData, signature };
  if (userHandle) answer.userHandle = userHandle;
  for (const name of Object.keys(answer)) answer[name] = base64url(answer[name]);
  const id = base64url(rawId);
  console.log(JSON.stringify({ id, rawId: id, type, response: answer }));
})(REQUEST);
