import type { Context } from '../../core/access/context.ts'
import type { Scope } from '../../core/access/scopes.ts'
import type { ActingDevice, ActingDevices } from './device-sync/acting-device.ts'
import { getOwn, getOwnOrDeleted, listDeleted, listOwn, toSaveViews, toStateViews } from './read-assets.ts'
import type { ListInput, SaveView, ScreenshotView, StateView } from './schemas.ts'
import { toScreenshotView } from './views.ts'

type Reference = number | string | undefined

/** Returns the device whose sync state a view contains; null unless the request names one. */
const namedDevice = (acting: ActingDevice | null) => acting?.is_named === true ? acting.device : null

export const viewState = async (context: Context, id: number): Promise<StateView> =>
  (await toStateViews(context.db, [await getOwn(context, { kind: 'state', id })]))[0] as StateView

export const viewScreenshot = async (context: Context, id: number): Promise<ScreenshotView> =>
  toScreenshotView(await getOwn(context, { kind: 'screenshot', id }))

export const listStates = async (context: Context, input: ListInput): Promise<StateView[]> =>
  await toStateViews(context.db, await listOwn(context, 'state', input))

export const listDeletedSaves = async (context: Context): Promise<SaveView[]> =>
  await toSaveViews(context.db, await listDeleted(context, 'save'), null)

export const listDeletedStates = async (context: Context): Promise<StateView[]> =>
  await toStateViews(context.db, await listDeleted(context, 'state'))

/** Creates the views of saves, which contain the sync state of the device that the request names. */
export function createSaveViews (devices: ActingDevices) {
  return {
    /** Returns a save that was just uploaded. The limit of its slot may have deleted the save already. */
    async viewUploadedSave (context: Context, id: number, reference: Reference): Promise<SaveView> {
      const acting = await devices.find(context, reference, 'devices.write')
      const row = await getOwnOrDeleted(context, { kind: 'save', id })
      return (await toSaveViews(context.db, [row], namedDevice(acting)))[0] as SaveView
    },

    async viewSave (
      context: Context, id: number, device: { reference: Reference, scope: Scope }
    ): Promise<SaveView> {
      const acting = await devices.find(context, device.reference, device.scope)
      const row = await getOwn(context, { kind: 'save', id })
      return (await toSaveViews(context.db, [row], namedDevice(acting)))[0] as SaveView
    },

    async listSaves (context: Context, input: ListInput): Promise<SaveView[]> {
      const acting = await devices.find(context, input.device_id, 'devices.read')
      return await toSaveViews(context.db, await listOwn(context, 'save', input), namedDevice(acting))
    }
  }
}
