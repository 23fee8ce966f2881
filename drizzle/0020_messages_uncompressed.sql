-- A row beyond 2 KB would be compressed, which costs more than all else that storing a usual reply does.
ALTER TABLE "messages" SET (toast_tuple_target = 4096);
