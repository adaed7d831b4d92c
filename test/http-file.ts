/** One request of a `.http` file, before its variables are replaced. */
export interface HttpStep { title: string, name: string | null, status: number, lines: string[] }

/** Responses by the names that later requests use. */
export type Answers = Map<string, unknown>

const SECTION = /^###\s*/
const NAME = /^#\s*@name\s+(\w+)/
const VARIABLE = /^@(\w+)\s*=\s*(.*)$/
const EXPRESSION = /\{\{([^{}]+)\}\}/g

/** Parses the variables and the requests of a file; each title ends in the expected status. */
export function readHttpFile (text: string): { variables: Map<string, string>, steps: HttpStep[] } {
  const [head = '', ...sections] = text.split(/^(?=###)/m)
  const variables = new Map(head.split('\n').flatMap((line) => {
    const [, name, value] = VARIABLE.exec(line) ?? []
    return name === undefined || value === undefined ? [] : [[name, value]]
  }))
  const steps = sections.map((section): HttpStep => {
    const [first = '', ...rest] = section.trimEnd().split('\n')
    const [, title = '', status = ''] = /^(.*): (\d{3})$/.exec(first.replace(SECTION, '')) ?? []
    const name = rest.map((line) => NAME.exec(line)?.[1]).find((one) => one !== undefined) ?? null
    return { title, name, status: Number(status), lines: rest.filter((line) => !line.startsWith('#')) }
  })
  return { variables, steps }
}

/** Evaluates a path such as `$.operations[0].id`. */
function follow (value: unknown, path: string): unknown {
  const keys = [...path.matchAll(/\.(\w+)|\[(\d+)\]/g)].map(([, key, index]) => key ?? Number(index))
  return keys.reduce<unknown>((inner, key) => Reflect.get(Object(inner) as object, key), value)
}

function fill (text: string, variables: ReadonlyMap<string, string>, answers: Answers): string {
  return text.replace(EXPRESSION, (whole, expression: string) => {
    const [, name = '', path = ''] = /^(\w+)\.response\.body\.(\$.*)$/.exec(expression) ?? []
    const value = name === '' ? variables.get(expression) : follow(answers.get(name), path)
    if (typeof value !== 'string' && typeof value !== 'number') throw new Error(`${whole} is not known`)
    return String(value)
  })
}

const encodeBasic = (value: string) => value.replace(/^Basic (.+:.*)$/, (_whole, pair: string) =>
  `Basic ${Buffer.from(pair).toString('base64')}`)

/** Sends one request as editors do. */
export async function sendStep (
  { lines }: HttpStep, variables: ReadonlyMap<string, string>, answers: Answers
): Promise<Response> {
  const filled = lines.map((line) => fill(line, variables, answers))
  const [request = '', ...rest] = filled
  const [method = '', url = ''] = request.split(' ')
  const end = rest.indexOf('')
  const headers = new Headers((end === -1 ? rest : rest.slice(0, end)).map((line): [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon), encodeBasic(line.slice(colon + 1).trim())]
  }))
  const isForm = headers.get('content-type')?.startsWith('multipart/') === true
  const body = end === -1 ? null : rest.slice(end + 1).join(isForm ? '\r\n' : '\n')
  return await fetch(url, { method, headers, body })
}
