import type { Dispatcher } from 'undici';
import type { Fence } from '../../ports.ts';

/**
 * `pool` with `fence` asked at the moment when a request is written to its connection. Asking any earlier is not enough:
 * a request may wait for a connection meanwhile, and a process that was paused (SIGSTOP, a frozen virtual machine) gets
 * the connection before its timers run. The request then rejects with what the fence throws, unsent.
 */
export function behindFence(pool: Dispatcher, fence: Fence): Dispatcher {
  return pool.compose((dispatch) => (options, handler) => dispatch(options, fenced(handler, fence)));
}

function fenced(handler: Dispatcher.DispatchHandler, fence: Fence): Dispatcher.DispatchHandler {
  return {
    onRequestStart(controller, context) {
      fence.assertOpen();
      handler.onRequestStart?.(controller, context);
    },
    onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
    onResponseStart: (...args) => handler.onResponseStart?.(...args),
    onResponseData: (...args) => handler.onResponseData?.(...args),
    onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
    onResponseError: (...args) => handler.onResponseError?.(...args),
  };
}
