/** An entry of `packages` in package-lock.json. */
export interface LockedPackage {
  version?: string
  engines?: unknown
  optionalDependencies?: Readonly<Record<string, string>>
}

export interface Lockfile { packages: Record<string, LockedPackage> }
