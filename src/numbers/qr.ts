import QRCode from "qrcode";

const PIXELS = 320;

/** Draws a QR text as PNG data URI. */
export function drawQr(text: string): Promise<string> {
  return QRCode.toDataURL(text, { width: PIXELS, margin: 2, errorCorrectionLevel: "L" });
}
