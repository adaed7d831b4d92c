type Json = Readonly<Record<string, unknown>>

export interface Operation extends Json { summary?: string, responses?: Record<string, Json> }

/** The description that @fastify/swagger writes for a schema without one. */
const NO_DESCRIPTION = 'Default Response'

/** Descriptions of statuses that have the same meaning in all operations. */
const STATUSES: Readonly<Record<string, string>> = {
  201: 'Made',
  202: 'Taken on; it goes on after this answer',
  204: 'Done',
  206: 'The part that `Range` asks for',
  304: 'As the caller has it already',
  400: 'Cannot be done as it was asked; `detail` names what is wrong and what to do',
  401: 'No credential, or one that is not good any more',
  403: 'Not for this caller: scopes, a grant, or a rule of the server',
  404: 'There is no such thing, or none that the caller may see',
  409: 'Something else stands in the way: a thing of that name, another change, work that is under way',
  410: 'Was there, and is gone for good',
  412: 'What is there now is not what the request expects',
  413: 'Larger than the server takes',
  415: 'A content type that this operation does not read',
  416: 'There is nothing where `Range` begins',
  422: 'A value that its schema does not allow; `detail` lists each with its place',
  423: 'Locked by somebody else',
  428: 'Asks for a decision first',
  429: 'Too often; `Retry-After` says when to come back',
  500: 'The server could not, through no fault of the request',
  502: 'Another service that is needed gave no good answer',
  503: 'Not at this moment; come back later',
  507: 'Not enough space on the disk'
}

/** Describes the responses of an operation; a success without its own description gets the operation's summary. */
function describeOperation (operation: Operation): Operation {
  const responses = Object.entries(operation.responses ?? {}).map(([status, response]) => {
    const description = response.description === NO_DESCRIPTION
      ? STATUSES[status] ?? operation.summary ?? 'Done'
      : response.description
    return [status, { ...response, description }]
  })
  return { ...operation, responses: Object.fromEntries(responses) as Record<string, Json> }
}

/** Gives each response without a description that of its status. */
export function describeResponses (paths: Readonly<Record<string, Record<string, Operation>>>) {
  return Object.fromEntries(Object.entries(paths).map(([path, operations]) => [path, Object.fromEntries(
    Object.entries(operations).map(([method, operation]) => [method, describeOperation(operation)])
  )]))
}
