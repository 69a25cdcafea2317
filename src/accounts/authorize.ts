import { GatewayError } from "../model/errors/errors.ts";
import type { Grants } from "./caller.ts";
import { coversContact, coversEntry, type Contact } from "../model/address.ts";

/** @throws PERMISSION_DENIED with the permission that the key lacks */
export function authorize(caller: Grants, permission: string): void {
  if (!allows(caller, permission)) throw denied(permission);
}

/** Whether the key has a permission, or all of them. */
export const allows = ({ permissions }: Pick<Grants, "permissions">, permission: string): boolean =>
  permissions.includes("*") || permissions.includes(permission);

/** Whether the key may use this number. One that it may not use is answered like one that does not exist. */
export function mayUseNumber(caller: Grants, number: string): boolean {
  return caller.devices === null || caller.devices.includes(number);
}

/** Whether the key may write to this contact, and read of it what it may read at all. */
export function mayWriteTo(caller: Grants, contact: Contact): boolean {
  return caller.recipients === null || coversContact(caller.recipients, contact);
}

/**
 * A key cannot hand on what it has not got: neither a permission nor a number nor a recipient. For the same reason it can
 * neither change nor take over a key that may do more.
 *
 * @throws PERMISSION_DENIED with what it lacks: the permission, or `devices` or `recipients`
 */
export function requireMayGrant(caller: Grants, wanted: Grants): void {
  const lacking = lackingOf(caller, wanted);
  if (lacking !== null) throw denied(lacking);
}

/** Whether a key may do all that another may: only then does it see what the other may do. */
export const mayGrant = (caller: Grants, wanted: Grants): boolean => lackingOf(caller, wanted) === null;

function lackingOf(caller: Grants, wanted: Grants): string | null {
  const permission = wanted.permissions.find((one) => !allows(caller, one));
  if (permission !== undefined) return permission;
  if (!within(wanted.devices, caller.devices, (own, number) => own === number)) return "devices";
  return within(wanted.recipients, caller.recipients, coversEntry) ? null : "recipients";
}

function within(
  wanted: string[] | null,
  own: string[] | null,
  includes: (own: string, wanted: string) => boolean,
): boolean {
  if (own === null) return true;
  return wanted !== null && wanted.every((entry) => own.some((mine) => includes(mine, entry)));
}

function denied(permission: string): GatewayError {
  return new GatewayError("PERMISSION_DENIED", `This API key lacks the permission "${permission}".`, {
    extra: { permission },
  });
}
