import { setSettings } from '../config/environment.ts'
import { type Inspection, inspectPlugins } from '../loader/inspection/inspect.ts'
import type { InspectResult, InspectRequest } from '../loader/inspection/inspect-in-process.ts'
import { features } from '../../plugins/index.ts'

/** Entry of the process that inspects plugins for a process that runs none of their code. */
function report (result: InspectResult): void {
  process.send?.(result, undefined, undefined, () => { process.exit(0) })
}

async function inspect ({ settings, runsPlugins, packages, stored }: InspectRequest): Promise<Inspection> {
  setSettings(settings)
  const [{ config }, serverFields] = await Promise.all([features.loadConfig(), features.loadFieldNames()])
  const of = (kind: string, key: string) => stored[`${kind}/${key}`] ?? {}
  return await inspectPlugins({ config, runsPlugins, packages, serverFields, stored: { of } })
}

process.on('disconnect', () => { process.exit(1) })
process.once('message', (message) => {
  inspect(message as InspectRequest).then(
    (inspection) => { report({ inspection, problem: null }) },
    (err: unknown) => { report({ inspection: null, problem: err instanceof Error ? err.message : String(err) }) })
})
