import { type PluginPackage, listPluginPackages } from '../packages/packages.ts'
import { type Dependencies, describeDependencies } from '../packages/plugins-folder.ts'
import { fingerprintOf } from './snapshot.ts'

/**
 * The plugins at the start of a server. All its processes work with these until it ends, also those that start later,
 * because a plugin works only if the web workers and the scan worker both have it.
 */
export interface InstalledPlugins {
  packages: PluginPackage[]
  /** Identifies the row of `plugin_snapshots` through which the processes share the state of the plugins. */
  fingerprint: string
  /** Content of package.json in the folder of community plugins; the error of reading it if that fails. */
  dependencies: Dependencies | string
}

/** Returns the plugins that are installed now. @param packages those to use in place of the packages on disk */
export function findInstalled (dataDir: string, packages = listPluginPackages(dataDir)): InstalledPlugins {
  return { packages, fingerprint: fingerprintOf(packages), dependencies: describeDependencies(dataDir) }
}

/** Returns the packages of the start that were updated or removed since. @param now the packages on disk */
export function findChanged (
  { packages }: Pick<InstalledPlugins, 'packages'>, now: readonly PluginPackage[]
): ReadonlySet<PluginPackage> {
  const current = new Set(now.map((pack) => JSON.stringify(pack)))
  return new Set(packages.filter((pack) => !current.has(JSON.stringify(pack))))
}
