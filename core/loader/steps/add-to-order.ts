import type { ProviderDefinition } from '@svc/plugin-sdk'
import { findCycle } from '../checks/provider-order.ts'
import { LoadError } from '../load-error.ts'
import type { Candidate } from './candidate.ts'

/** Orders the available providers. The one that closes a cycle is skipped, in load order. */
export function addToOrder (ordered: ProviderDefinition[], { plugin }: Candidate): void {
  if (plugin?.kind !== 'provider') return
  const definition = plugin.definition as ProviderDefinition
  const cycle = findCycle(ordered, definition)
  if (cycle !== null) {
    throw new LoadError('failed', `its order is a cycle: ${cycle.join(' → ')}, each called before the next; ` +
      "change its 'order'")
  }
  ordered.push(definition)
}
