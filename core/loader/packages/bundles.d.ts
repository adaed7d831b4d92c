export declare const BUNDLED: readonly string[]
export declare const INDEX: string
export declare function nameBundles (): string
export declare function digestFile (path: string): string
export declare function findBundles (folder: string): ReadonlyMap<string, string>
