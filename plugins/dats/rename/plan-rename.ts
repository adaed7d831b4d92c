import type { Context } from '../../../core/access/context.ts'
import { ApiError } from '../../../core/errors.ts'
import type { ExclusionRules } from '../../library/exclusions.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import { toFileName } from '../../renames/rename-rom.ts'
import type { DatRenameView } from '../schemas.ts'
import { toDatRenameView } from '../views.ts'
import {
  type MisnamedRom, type RenameChain, type RenamePage, type RenameSelection, selectChains, selectMisnamed
} from './rename-rows.ts'

/** Returns the reason why a ROM cannot have its new name; null if it can. Names in DATs are not trusted. */
function findNameRefusal ({ new_name: name, is_folder: isFolder }: MisnamedRom, rules: ExclusionRules): string | null {
  try {
    return toFileName(name, isFolder, rules) === name ? null : `'${name}' is no name that a file can have`
  } catch (err) {
    if (err instanceof ApiError) return err.message
    throw err
  }
}

/** Returns the reason why the first ROM of a chain cannot get its name; null if it can. */
function findRefusal (chain: RenameChain, rules: ExclusionRules): string | null {
  const { roms: [first], is_taken: isTaken } = chain
  const own = findNameRefusal(first, rules)
  if (own !== null) return own
  if (isTaken || listSteps(chain).some((step) => findNameRefusal(step, rules) !== null)) {
    return `another ROM has or gets the name '${first.new_name}'; delete or rename that one first`
  }
  return null
}

export const planRename = (chain: RenameChain, rules: ExclusionRules): DatRenameView =>
  toDatRenameView(chain.roms[0], findRefusal(chain, rules))

/** Plans the renames of one page of ROMs. */
export async function previewRenames (
  context: Context<AnyCaller>, selection: RenameSelection, page: RenamePage, rules: ExclusionRules
): Promise<DatRenameView[]> {
  const chains = await selectChains(context, selection, await selectMisnamed(context, selection, page))
  return chains.map((chain) => planRename(chain, rules))
}

/** Returns the name under which the first ROM of a cycle waits. It tells the new name, in case a crash leaves it. */
const temporaryNameOf = ({ rom_id: id, new_name: name }: MisnamedRom) => `renaming-${id} ${name}`

/** One rename of a chain. */
export interface RenameStep extends MisnamedRom { is_temporary: boolean }

/** Returns the renames of a chain in their order. Each leaves the library whole, and a later run does the rest. */
export function listSteps ({ roms: [first, ...others], is_cycle: isCycle }: RenameChain): RenameStep[] {
  const rest = others.toReversed().map((rom) => ({ ...rom, is_temporary: false }))
  if (!isCycle) return [...rest, { ...first, is_temporary: false }]
  const name = temporaryNameOf(first)
  return [{ ...first, new_name: name, is_temporary: true }, ...rest, { ...first, fs_name: name, is_temporary: false }]
}
