/** https://docs.npmjs.com/cli/configuring-npm/package-json#name; capitals are in old names. */
const NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i

/** Whether a text is a name of an npm package, and so a folder right below `node_modules`, or below a scope there. */
export const isPackageName = (name: string) => NAME.test(name)

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** The packages that a package.json names as needed at run time; the names are unchecked. */
export const listDependencyNames = (
  { dependencies, optionalDependencies, peerDependencies }: Record<string, unknown>
): string[] =>
  [dependencies, optionalDependencies, peerDependencies].filter(isRecord).flatMap((names) => Object.keys(names))
