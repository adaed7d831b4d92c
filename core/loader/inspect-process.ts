import { loadConfig } from '../config/config.ts'
import { useSettings } from '../config/environment.ts'
import type { InspectOrder, InspectNews } from './inspect-in-process.ts'
import { inspectPlugins } from './inspect.ts'

/** Entry of the process that inspects plugins for a process that runs none of their code. */
function report (news: InspectNews): void {
  process.send?.(news, undefined, undefined, () => { process.exit(0) })
}

process.on('disconnect', () => { process.exit(1) })
process.once('message', (message) => {
  const { settings, works, packages } = message as InspectOrder
  useSettings(settings)
  const { config } = loadConfig()
  inspectPlugins(config, works, packages).then(
    (inspection) => { report({ inspection, problem: null }) },
    (err: unknown) => { report({ inspection: null, problem: err instanceof Error ? err.message : String(err) }) })
})
