import { channel } from 'node:diagnostics_channel'

/** Creates a trace: an event that this process repeats, published to code that measures it. */
function createTrace<Event extends object> (name: string) {
  const told = channel(`svc:${name}`)
  return {
    tell: (event: Event): void => { told.publish(event) },
    /** @returns a function that stops listening */
    hear (listener: (event: Event) => void): () => void {
      const onMessage = (event: unknown) => { listener(event as Event) }
      told.subscribe(onMessage)
      return () => { told.unsubscribe(onMessage) }
    }
  }
}

/** The result of a traced action: its duration, and its error or null. */
interface Ended { ms: number, failure: unknown }

/** A call of a provider, including the time that it waits for its service. */
export const providerCalls = createTrace<Ended & { provider: string }>('provider-call')

/** A single request to a plugin's service; the plugin is named by its kind and key. */
export const pluginRequests = createTrace<Ended & { plugin: string }>('plugin-request')
