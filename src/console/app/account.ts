/** An account as `GET /admin/accounts` lists it. */
export interface Account {
  id: string;
  name: string;
  plan: string;
  enabled: boolean;
}
