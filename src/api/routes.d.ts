/** Built by `nitro.config.ts` from the files in `routes/`. */
declare module "#routes" {
  const routes: {
    /** `/devices/:number` */
    route: string;
    method: string;
    pattern: RegExp;
  }[];
  export default routes;
}
