import type { Component } from "vue";
import type { RouteRecordRaw } from "vue-router";

/** What a screen says of itself. */
export interface ScreenMeta {
  /** Its entry in the navigation. */
  nav?: {
    /** Key of its text. */
    label: string;
    /** Key of a shorter one, for the bar of a phone. Default `label`. */
    short?: string;
    icon: Component;
    /** Lower stands first. */
    order: number;
  };
  /** Permission without which it is not shown; of several, any one will do. */
  needs?: string | string[];
  /** It links numbers that the account does not have yet. */
  addsNumbers?: true;
  /** For operators alone. */
  operator?: true;
  /** False: works for an operator who has chosen no account. Default true. */
  account?: false;
  /** Needs no session. */
  public?: true;
  /** No navigation around it. */
  bare?: true;
  /** Key of the document's title; default the navigation's. */
  title?: string;
  /** Fills the window and scrolls by itself. */
  fill?: true;
}

/** A route of `screens/<area>/routes.ts`. */
export type ScreenRoute = RouteRecordRaw & { meta?: ScreenMeta };

declare module "vue-router" {
  // oxlint-disable-next-line typescript/no-empty-object-type -- this is how the router's own type is extended
  interface RouteMeta extends ScreenMeta {}
}
