export declare const BUNDLED: readonly string[]
export declare function nameBundles (): string
export declare function findBundles (folder: string): ReadonlyMap<string, string>
