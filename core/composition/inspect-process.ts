import { useSettings } from '../config/environment.ts'
import { type Inspection, inspectPlugins } from '../loader/inspect.ts'
import type { InspectNews, InspectOrder } from '../loader/inspect-in-process.ts'
import { features } from '../../plugins/index.ts'

/** Entry of the process that inspects plugins for a process that runs none of their code. */
function report (news: InspectNews): void {
  process.send?.(news, undefined, undefined, () => { process.exit(0) })
}

async function inspect ({ settings, works, packages }: InspectOrder): Promise<Inspection> {
  useSettings(settings)
  const { config } = await features.loadConfig()
  return await inspectPlugins(config, works, packages)
}

process.on('disconnect', () => { process.exit(1) })
process.once('message', (message) => {
  inspect(message as InspectOrder).then(
    (inspection) => { report({ inspection, problem: null }) },
    (err: unknown) => { report({ inspection: null, problem: err instanceof Error ? err.message : String(err) }) })
})
