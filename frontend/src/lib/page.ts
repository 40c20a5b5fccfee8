/** This open page (tab), by a name that it gives itself when it is loaded: it tells two tabs of one person apart. */
export const PAGE = Math.random().toString(36).slice(2);
