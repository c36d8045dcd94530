/** Names of environment variables and their values. */
export declare const bunEnvironment: Readonly<Record<string, string>>;
