// One click on https://web.whatsapp.com: asks for the question, lets the passkey sign it, shows the answer to copy.
chrome.action.onClicked.addListener((tab) =>
  chrome.scripting.executeScript({ target: { tabId: tab.id }, world: "MAIN", files: ["answer.js"] }),
);
