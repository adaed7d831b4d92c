import type { ChannelDefinition, ExporterDefinition, PluginKind, ProviderDefinition } from '@svc/plugin-sdk'

/** A plugin as its process describes it: everything but its code. */
export interface Descriptor {
  kind: PluginKind
  /** The definition without its functions; see `pack`. */
  data: Record<string, unknown>
  /** The functions that the definition has, by their path. */
  methods: string[]
}

/** What of a definition is a function, whether or not each plugin has it. */
type MethodOf<Definition> = {
  [Key in keyof Definition]-?: NonNullable<Definition[Key]> extends (...args: never[]) => unknown ? Key : never
}[keyof Definition]

/** All functions of the contract, those that data may stand for included. */
type Method = MethodOf<ProviderDefinition> | MethodOf<ChannelDefinition> | MethodOf<ExporterDefinition> |
  'index.build' | 'limits'

const CONTEXT_PLACES: Record<Method, number | null> = {
  identify: 1,
  getById: 2,
  search: 1,
  searchCovers: 1,
  suggest: 2,
  fetchMedia: 1,
  acceptMedia: 2,
  readProgress: 2,
  heartbeat: 0,
  'index.build': 0,
  limits: null,
  deliver: 2,
  confirm: 2,
  services: 0,
  parse: 1,
  check: 1,
  describe: null,
  destination: null,
  secretKeys: null,
  render: 3,
  missing: null,
  setup: 0,
  close: null
}

/** Where the context is among the arguments of each method that the host may call; null for one without. */
export const METHODS: Readonly<Record<string, number | null>> = CONTEXT_PLACES

/** Schemas carry what kind they are under symbols, which JSON leaves out. */
const SYMBOL = /^~(TypeBox\.\w+)$/
const symbolName = (symbol: symbol) => `~${symbol.description ?? ''}`

/** Data as JSON holds it, symbols of schemas included. */
export function pack (value: unknown): unknown {
  if (Array.isArray(value)) return (value as unknown[]).map(pack)
  if (typeof value !== 'object' || value === null) return value
  const symbols = Object.getOwnPropertySymbols(value).filter((symbol) => SYMBOL.test(symbolName(symbol)))
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined && typeof inner !== 'function')
  const all: [string, unknown][] = [
    ...entries.map(([key, inner]: [string, unknown]) => [key, pack(inner)] as [string, unknown]),
    ...symbols.map((symbol) => [symbolName(symbol), Reflect.get(value, symbol)] as [string, unknown])
  ]
  return Object.fromEntries(all)
}

/** What `pack` was given. */
export function unpack (value: unknown): unknown {
  if (Array.isArray(value)) return (value as unknown[]).map(unpack)
  if (typeof value !== 'object' || value === null) return value
  const unpacked: Record<string, unknown> = {}
  for (const [key, inner] of Object.entries(value)) {
    const symbol = SYMBOL.exec(key)?.[1]
    Object.defineProperty(unpacked, symbol === undefined ? key : Symbol.for(symbol), {
      value: unpack(inner), enumerable: true, writable: true, configurable: true
    })
  }
  return unpacked
}

/** A function of a definition by its path, bound to what it belongs to. */
export function findMethod (definition: object, path: string): ((...args: unknown[]) => unknown) | undefined {
  const [first = '', second] = path.split('.')
  const outer: unknown = Reflect.get(definition, first)
  if (second === undefined) return typeof outer === 'function' ? outer.bind(definition) as () => unknown : undefined
  if (typeof outer !== 'object' || outer === null) return undefined
  const inner: unknown = Reflect.get(outer, second)
  return typeof inner === 'function' ? inner.bind(outer) as () => unknown : undefined
}

export function describePlugin (kind: PluginKind, definition: object): Descriptor {
  return {
    kind,
    data: pack({ ...definition }) as Record<string, unknown>,
    methods: Object.keys(METHODS).filter((path) => findMethod(definition, path) !== undefined)
  }
}

/** The definition again, whose functions are those of `callOf`. */
export const rebuildDefinition = (
  { data, methods }: Descriptor, callOf: (method: string) => (...args: unknown[]) => unknown
): Record<string, unknown> => withMethods(unpack(data) as Record<string, unknown>, methods, callOf)

/** A copy of a definition in which the functions at these paths are those of `callOf`. */
export function withMethods<Definition extends object> (
  definition: Definition, paths: readonly string[], callOf: (method: string) => (...args: unknown[]) => unknown
): Definition {
  const copy = { ...definition }
  for (const path of paths) {
    const [first = '', second] = path.split('.')
    const outer: unknown = Reflect.get(copy, first)
    Reflect.set(copy, first, second === undefined ? callOf(path) : { ...outer as object, [second]: callOf(path) })
  }
  return copy
}
