/** What a server hands out about a device to whoever wants to write to it. Public keys are 32 bytes. */
export interface KeyBundle {
  registrationId: number;
  identity: Uint8Array;
  signedPreKey: { id: number; public: Uint8Array; signature: Uint8Array };
  preKey?: { id: number; public: Uint8Array };
}
