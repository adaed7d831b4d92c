import type { FastifyBaseLogger } from 'fastify'
import type { Socket } from 'socket.io'
import { asRequest } from '../log/request-id.ts'
import { createReader } from '../web/validation.ts'
import type { ClientEvent, EventDescription, Identify, ListedEvent, Sockets } from './sockets.ts'

/** An event with the reader that checks payloads and applies defaults. */
type ReadEvent = ClientEvent<never> & { read: ReturnType<typeof createReader> }

/** Handles one event of a client, or refuses it. */
async function handleEvent (event: ReadEvent, payload: unknown, socket: Socket, identify: Identify): Promise<void> {
  // Authenticated at each event, because the session may have ended since the handshake.
  const caller = await identify(socket)
  if (caller === null || event.scopes.some((scope) => !caller.scopes.has(scope))) {
    event.refuse(socket, 'You are not authorized to do this')
    return
  }
  const given = payload === undefined || typeof payload === 'function' || payload === null ? {} : payload
  const read = event.read(given)
  if ('problem' in read) event.refuse(socket, read.problem)
  else await event.handle(read.value as never, caller, socket)
}

/** Creates the list of all events that features declare, and handles those of clients. */
export function createEvents (identify: Identify, log: FastifyBaseLogger) {
  const fromClients = new Map<string, ReadEvent>()
  const fromServer: ListedEvent[] = []

  async function receive (name: string, event: ReadEvent, payload: unknown, socket: Socket): Promise<void> {
    try {
      await handleEvent(event, payload, socket, identify)
    } catch (err) {
      log.error({ err, event: name }, 'socket event failed')
      event.refuse(socket, 'The server failed to handle this event; see its log')
    }
  }

  return {
    /** Handles the events of a socket one after the other, because a stop event must not overtake its start event. */
    listen (socket: Socket): void {
      let last = Promise.resolve()
      for (const [name, event] of fromClients) {
        socket.on(name, (payload: unknown) => {
          last = last.then(() => asRequest(crypto.randomUUID(), () => receive(name, event, payload, socket)))
        })
      }
    },
    declarations: {
      on (event, definition) {
        if (fromClients.has(event)) throw new Error(`Socket event '${event}' is declared twice`)
        fromClients.set(event, { ...definition, read: createReader(definition.schema) })
      },
      describe (described, namespace = '/') {
        for (const [name, description] of Object.entries<EventDescription<unknown> | undefined>(described)) {
          if (description !== undefined) fromServer.push({ namespace, name, from: 'server', scopes: [], ...description })
        }
      },
      listEvents: () => [
        ...[...fromClients].map(([name, { scopes, summary, schema }]): ListedEvent =>
          ({ namespace: '/', name, from: 'client', summary, schema, scopes })),
        ...fromServer
      ]
    } satisfies Pick<Sockets, 'on' | 'describe' | 'listEvents'>
  }
}
