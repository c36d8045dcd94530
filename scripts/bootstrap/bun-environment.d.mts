/** Names of environment variables and their values. */
export declare const bunEnvironment: Readonly<Record<string, string>>;
export declare const endingWithParent: Readonly<Record<string, string>>;
export declare function directOnThisMachine(environment: Readonly<Record<string, string | undefined>>): Record<string, string>;
