import type { Rom } from '@svc/plugin-sdk'
import fastify from 'fastify'
import { exitOnServerErrors } from '../../core/loader/calls/fault.ts'
import { loadPlugins } from '../../core/loader/loader.ts'
import type { PluginPackage } from '../../core/loader/packages/packages.ts'
import { createMemoryServices } from './memory-services.ts'
import { config, scopeOf } from './troublemaker.ts'

/** Entry of a process that runs a plugin as a scan worker runs built-in ones. */
export type FaultyNews = { error: string, plugin: string } | { fatal: string } | { index: number }

const tell = (news: FaultyNews) => new Promise<void>((resolve) => {
  process.send?.(news, undefined, undefined, () => { resolve() })
})

exitOnServerErrors(() => ({
  error: ({ err, plugin }: { err: Error, plugin: string }) => { void tell({ error: err.message, plugin }) },
  fatal: ({ err }: { err: Error }) => { void tell({ fatal: err.message }) }
}), 'the process fails')

const registry = await loadPlugins(fastify(), {
  config, runsPlugins: true, packages: JSON.parse(process.argv[2] ?? '[]') as PluginPackage[],
  createServices: (_kind, _key, { config: values }) => createMemoryServices(values, process.cwd())
})
const loaded = registry.providers.get('troublemaker')
if (loaded === undefined) throw new Error('The fixture is not active')
const { definition, context } = loaded
for (const deed of ['timer', 'rejection', 'tick']) {
  // These calls never return.
  void definition.identify?.({ fs_name: deed } as Rom, context(scopeOf()) as never)
}
process.on('message', (message) => {
  if (message === 'iterate') {
    void (async () => {
      for await (const [entry] of definition.index?.build(context(scopeOf()) as never) ?? []) {
        await tell({ index: Number(entry?.[0].split('-')[1]) })
      }
    })()
  } else setTimeout(() => { throw new Error('a mistake of the server') })
})
