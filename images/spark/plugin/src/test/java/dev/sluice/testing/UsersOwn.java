package dev.sluice.testing;

import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import scala.Function1;
import scala.Tuple3;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/** A plugin and an extension as a user may have: the SQL function {@code users_own()} gives what the plugin has set. */
public final class UsersOwn extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> implements SparkPlugin {
    private static volatile int set;

    @Override
    public DriverPlugin driverPlugin() {
        return new DriverPlugin() {
            @Override
            public Map<String, String> init(final SparkContext spark, final PluginContext context) {
                set = 1000;
                return Map.of();
            }
        };
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return null;
    }

    @Override
    public BoxedUnit apply(final SparkSessionExtensions extensions) {
        final Function1<Seq<Expression>, Expression> made = arguments -> Literal$.MODULE$.apply(set);
        extensions.injectFunction(new Tuple3<>(
                new FunctionIdentifier("users_own"), new ExpressionInfo(UsersOwn.class.getName(), "users_own"), made));
        return BoxedUnit.UNIT;
    }
}
