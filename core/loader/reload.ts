import type { PluginKind, ProviderDefinition } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import { addToOrder } from './steps/add-to-order.ts'
import { type Candidate, attempt, closeCandidate, createCandidate, toLoaded, toRecord } from './steps/candidate.ts'
import { type ConfigureOptions, configurePlugin, createUsedNames } from './steps/configure-plugin.ts'
import type { Definition, Loaded, PluginRecord } from './registry.ts'

/** A plugin that was loaded again may still answer calls for this time; each call has a time limit of its own. */
const RETIRE_MS = 60_000

/** The plugins of a process, and the steps that load one of them. */
export interface RunningPlugins {
  app: FastifyInstance
  options: ConfigureOptions
  candidates: Candidate[]
  records: Map<Candidate, PluginRecord>
  /** The providers in their order. */
  ordered: ProviderDefinition[]
  importCode (candidate: Candidate, index: number): Promise<void>
  setUp (candidate: Candidate): Promise<void>
  replace (record: PluginRecord, now: PluginRecord, loaded: Loaded<Definition> | null): void
}

/** Creates the function that loads a plugin again, and the one that closes all plugins. */
export function createReload (plugins: RunningPlugins) {
  const { app, options, candidates, records, ordered, importCode, setUp, replace } = plugins
  const retired = new Set<Candidate>()

  /** Closes a plugin once the calls that run now have ended. */
  function retire (candidate: Candidate): void {
    retired.add(candidate)
    setTimeout(() => {
      retired.delete(candidate)
      void closeCandidate(candidate)
    }, RETIRE_MS).unref()
  }

  return {
    /** Loads a plugin again with its current settings. Calls that already run end in the former one. */
    async reload (kind: PluginKind, key: string): Promise<void> {
      const index = candidates.findIndex(({ isDefined, plugin }) =>
        isDefined && plugin?.kind === kind && plugin.definition.key === key)
      const former = candidates[index]
      const record = former && records.get(former)
      if (former === undefined || record === undefined) return
      const next = createCandidate(former.pack)
      // The former one no longer reports its process.
      records.delete(former)
      records.set(next, record)
      await attempt(next, () => importCode(next, index))
      // The names of this plugin are its own since the start.
      await attempt(next, () => configurePlugin(next, createUsedNames(), options, () => {}))
      const position = ordered.findIndex((definition) => definition === former.plugin?.definition)
      if (position !== -1) ordered.splice(position, 1)
      await attempt(next, () => { addToOrder(ordered, next) })
      if (options.runsPlugins) await attempt(next, () => setUp(next))
      next.isDefined = true
      next.plugin ??= former.plugin
      candidates[index] = next
      replace(record, toRecord(next), toLoaded(next, app.log))
      retire(former)
    },

    close: async () => { await Promise.all([...candidates, ...retired].map(closeCandidate)) }
  }
}
