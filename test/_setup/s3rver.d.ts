declare module "@20minutes/s3rver" {
  /** A server that speaks S3 and checks signatures; the one key it knows is `S3RVER` with `S3RVER`. */
  export default class S3rver {
    constructor(options: {
      port: number;
      address: string;
      silent: boolean;
      directory: string;
      configureBuckets: { name: string }[];
    });
    run(): Promise<{ port: number }>;
    close(): Promise<void>;
  }
}
