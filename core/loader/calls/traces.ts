import { channel } from 'node:diagnostics_channel'

/** Creates a trace: an event that this process repeats, published to code that measures it. */
function createTrace<Event extends object> (name: string) {
  const traceChannel = channel(`svc:${name}`)
  return {
    publish: (event: Event): void => { traceChannel.publish(event) },
    /** @returns a function that stops listening */
    subscribe (listener: (event: Event) => void): () => void {
      const onMessage = (event: unknown) => { listener(event as Event) }
      traceChannel.subscribe(onMessage)
      return () => { traceChannel.unsubscribe(onMessage) }
    }
  }
}

/** The result of a traced action: its duration, and its error or null. */
interface TracedResult { ms: number, failure: unknown }

/** A call of a provider, including the time that it waits for its service. */
export const providerCalls = createTrace<TracedResult & { provider: string }>('provider-call')

/** A single request to a plugin's service; the plugin is named by its kind and key. */
export const pluginRequests = createTrace<TracedResult & { plugin: string }>('plugin-request')
