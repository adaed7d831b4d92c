import { channel } from 'node:diagnostics_channel'

/** Something that this process does again and again, told to whoever measures it. */
function createTrace<Event extends object> (name: string) {
  const told = channel(`svc:${name}`)
  return {
    tell: (event: Event): void => { told.publish(event) },
    /** @returns what ends that */
    hear (listener: (event: Event) => void): () => void {
      const onMessage = (event: unknown) => { listener(event as Event) }
      told.subscribe(onMessage)
      return () => { told.unsubscribe(onMessage) }
    }
  }
}

/** How something went: what it failed with, or null. */
interface Ended { ms: number, failure: unknown }

/** A call of a provider, waiting for its service included. */
export const providerCalls = createTrace<Ended & { provider: string }>('provider-call')

/** A request to a plugin's service, once; the plugin is named by its kind and key. */
export const pluginRequests = createTrace<Ended & { plugin: string }>('plugin-request')
