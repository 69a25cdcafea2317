import type { Component } from "vue";
import type { RouteLocationRaw } from "vue-router";

/** One line of a menu; with `separator` alone it is a line between two. */
export interface MenuItem {
  label?: string;
  icon?: Component;
  danger?: boolean;
  disabled?: boolean;
  /** Chosen among its like. */
  checked?: boolean;
  separator?: true;
  select?: () => void;
  /** Leads to a screen. */
  to?: RouteLocationRaw;
}
